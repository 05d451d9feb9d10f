// Certificates by @peculiar/x509 and WebCrypto. The package takes 400 ms to load, and Bun's own for reading them takes
// 13 ms, so they are loaded when they are needed.
import type { X509Certificate } from "node:crypto";
import type { Certificates, Issue, Life } from "../certificates.ts";
import { sha256 } from "../hash.ts";
import type { TunnelIdentity } from "../tunnel.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const ADDRESS = /^[\d.]+$|:/;
/** Extended key usages. */
const [FOR_SERVER, FOR_CLIENT] = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"];

export function realCertificates(): Certificates {
  return { newAuthority, newRequest, issue, lifeOf, hashOf };
}

async function library() {
  await import("reflect-metadata"); // The other one needs it before it is loaded.
  return await import("@peculiar/x509");
}

/** Throws if it is none; from its PEM or its bytes. */
export function certificateIn(certificate: string | Uint8Array): X509Certificate {
  const library: typeof import("node:crypto") = require("node:crypto");
  return new library.X509Certificate(certificate);
}

async function newAuthority(name: string, { notBefore, notAfter }: Life): Promise<TunnelIdentity> {
  const x509 = await library();
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const signs = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ keys, signingAlgorithm: ALGORITHM, serialNumber: "01", name: [{ CN: [name] }] },
    ...{ notBefore: new Date(notBefore), notAfter: new Date(notAfter) },
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true), // CT3
      new x509.KeyUsagesExtension(signs, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { key: await pemOf(keys.privateKey), certificate: certificate.toString("pem") };
}

async function newRequest(): Promise<{ key: string; request: string }> {
  const x509 = await library();
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm: ALGORITHM });
  return { key: await pemOf(keys.privateKey), request: request.toString("pem") };
}

async function issue(authority: TunnelIdentity, request: string, given: Issue): Promise<string | undefined> {
  const x509 = await library();
  const publicKey = await keyIn(request);
  if (publicKey === undefined) return undefined;
  const { serial, name, notBefore, notAfter, hosts } = given;
  const names = (hosts ?? []).map((value) => ({ type: ADDRESS.test(value) ? "ip" : "dns", value }) as const);
  const certificate = await x509.X509CertificateGenerator.create({
    ...{ serialNumber: serial, subject: [{ CN: [name] }], publicKey, signingAlgorithm: ALGORITHM },
    ...{ issuer: new x509.X509Certificate(authority.certificate).subjectName, signingKey: await keyOf(authority.key) },
    ...{ notBefore: new Date(notBefore), notAfter: new Date(notAfter) },
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true), // CT3
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([hosts === undefined ? FOR_CLIENT : FOR_SERVER], true),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ],
  });
  return certificate.toString("pem");
}

/** CT2. The public key of a valid request. */
async function keyIn(request: string) {
  const x509 = await library();
  try {
    const parsed = new x509.Pkcs10CertificateRequest(request);
    return (await parsed.verify()) ? parsed.publicKey : undefined;
  } catch {
    return undefined; // Whatever the parser says of it, it is not a request.
  }
}

async function pemOf(key: CryptoKey): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey("pkcs8", key)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${base64.replace(/.{1,64}/g, "$&\n")}-----END PRIVATE KEY-----\n`;
}

function keyOf(pem: string): Promise<CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
  return crypto.subtle.importKey("pkcs8", der, ALGORITHM, false, ["sign"]);
}

function lifeOf(certificate: string): Life | undefined {
  try {
    const { validFrom, validTo } = certificateIn(certificate);
    return { notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) };
  } catch {
    return undefined; // Not a certificate.
  }
}

function hashOf(certificate: string): string {
  return sha256(certificateIn(certificate).raw);
}
