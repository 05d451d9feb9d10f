import { expect, test } from "bun:test";
import { Scram } from "./scram.ts";

/** RFC 7677, section 3. */
const VECTOR = {
  user: "user",
  password: "pencil",
  nonce: "rOprNGfwEbeRWgbNEkqO",
  first: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
  serverFirst: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
  final: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
  serverFinal: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
};

function scram(): Scram {
  const { user, password, nonce } = VECTOR;
  return new Scram({ user, password, nonce, binding: { kind: "none" } });
}

test("the exchange of RFC 7677", async () => {
  const ours = scram();
  expect(ours.first).toBe(VECTOR.first);
  expect(await ours.proof(VECTOR.serverFirst)).toBe(VECTOR.final);
  expect(() => ours.verify(VECTOR.serverFinal)).not.toThrow();
});

test("SC1 a signature that is wrong, missing or early is refused", async () => {
  expect(() => scram().verify("v=")).toThrow("does not know the password");
  const ours = scram();
  await ours.proof(VECTOR.serverFirst);
  for (const final of ["", "v=", "e=other-error", VECTOR.serverFinal.replace("6", "7"), `x${VECTOR.serverFinal}`]) {
    expect(() => ours.verify(final)).toThrow("does not know the password");
  }
});

test("SC2 the header says whether the login is bound to the certificate, or could be", async () => {
  const { user, password, nonce } = VECTOR;
  const offer = new Scram({ user, password, nonce, binding: { kind: "not offered" } });
  expect(offer.first).toBe(`y,,n=user,r=${nonce}`);
  expect(await offer.proof(VECTOR.serverFirst)).toStartWith("c=eSws,");
  const bound = new Scram({ user, password, nonce, binding: { kind: "bound", hash: Buffer.from("hash") } });
  expect(bound.first).toBe(`p=tls-server-end-point,,n=user,r=${nonce}`);
  const [, given = ""] = /^c=([^,]*),/.exec(await bound.proof(VECTOR.serverFirst)) ?? [];
  expect(Buffer.from(given, "base64").toString()).toBe("p=tls-server-end-point,,hash");
});

test("SC3 a challenge that is not for us, or asks for too little or too much, is refused at once", async () => {
  const { serverFirst, nonce } = VECTOR;
  const wrong = [
    ...["", "r=", "m=ext,r=x,s=eA==,i=4096", serverFirst.replace("rOpr", "xOpr"), serverFirst.replace(/%.*,s/, ",s")],
    ...[
      serverFirst.replace("4096", "1"),
      serverFirst.replace("4096", "4095"),
      serverFirst.replace("4096", "999999999"),
    ],
    ...[serverFirst.replace("s=W22Z", "s=!!"), `r=${nonce}${"x".repeat(1_000)},s=eA==,i=4096`],
    serverFirst.replace("s=", `s=${"A".repeat(4_000)}`),
  ];
  for (const challenge of wrong) {
    const started = scram().proof(challenge);
    await expect(started).rejects.toThrow();
  }
});
