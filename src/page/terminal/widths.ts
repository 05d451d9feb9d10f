// How many columns a character takes: the table of world/widths.ts, as a text. Xterm's own table is from 2010, in which
// every emoji is too narrow, and everything after it in the wrong column.
// WT1. A snapshot is drawn with the widths that it was made with: the test compares every character.

/** Runs of characters of one width: how many, in base 36, then `_` for no column, `-` for one, `=` for two. */
const RUNS =
  "w_2n-x_gw-34_7n-7_7b-19_1-1_1-2_1-2_1-1_1k-6_a-b_1-1_1a-l_g-1_2t-8_1-6_2-2_1-4_x-1_1-1_u-r_2j-b_1m-9_9-1_o-4_1" +
  "-9_1-3_1-5_17-3_1n-9_16-1l_1j-3_1-g_3-7_a-2_s-3_1j-3_1-g_3-7_a-2_q-1_1-3_1j-3_1-g_3-7_a-2_c-2_3-1_a-3_1j-3_1-g" +
  "_3-7_a-2_m-9_1j-3_1-g_3-7_a-2_s-3_1j-3_1-g_3-7_a-2_s-3_1-1_1h-3_1-g_3-7_a-2_s-3_1j-3_1-g_3-7_a-2_s-3_1j-3_1-g_" +
  "k-2_t-1_20-1_7-3_1-1_2i-1_2-7_c-8_2q-1_2-9_b-7_21-2_r-1_1-1_1-1_1j-e_1-5_1-2_5-b_1-10_9-1_2u-4_1-6_1-2_2-2_p-2" +
  "_4-3_g-4_d-1_2-2_6-1_f-1_2q-2o=4g_9p-3_qa-3_t-2_u-2_u-2_1s-2_1-7_8-1_2-b_9-1_19-5_39-2_y-1_3a-3_4-2_9-1_6-3_63" +
  "-2_2-1_1m-1_1-7_1-1_1-1_2-8_6-a_2-1_1c-2c_1c-1_1-5_1-1_5-1_14-9_c-2_w-4_2-2_1-3_1k-1_1-2_3-1_1-3_1m-8_2-2_48-3" +
  "_1-d_1-7_4-1_6-1_3-2_5i-1s_ej-5_q-5_1d-g_2o-j_1=s_ey-2=d-2=5a-4=3-1=2-1=eh-2=l-2=q-8=g-c=17-1=a-6=3-1=d-1=8-2=" +
  "h-2=5-2=8-1=5-1=l-1=7-2=1-1=4-1=2-1=7-1=4-2=s-1=z-1=1-1=4-3=1-1=1p-3=o-1=e-1=nv-2=1f-1=4-1=bd-3_3x-1_2o-w_3k-q" +
  "=1-2h=c-5y=q-1m=4_h=2-2e=2-2_2t=5-17=1-2m=1-2e=9-1c=1-14=8-mkd=3-1j=bs-4_1-a_w-2_28-2_7k-1_3-1_4-1_p-2_5-1_47-" +
  "2_q-i_d-1_12-8_p-b_e-t=3-3_1c-1_2-4_2-2_13-1_1v-6_2-2_2-2_c-1_8-1_1b-1_1f-1_1-3_2-2_5-2_1-1_16-2_8-1_6m-1_2-1_" +
  "4-1_i-8mc=c-1n4_4xs-e8=u-1_kh-g_a=6-g_z=1-j=1-4=43-1_1-2o=3j-7=eu-1_6a-1_45-5_1ae-3_1-2_5-4_14-3_4-1_4l-2_fx-4" +
  "_1t-5_8t-2_25-6_1y-b_1d-4_3f-1_1i-f_15-1_2-2_a-3_1d-4_2-2_7-1_1p-3_10-5_1-8_1q-1_c-2_1g-9_a-4_2-1_2n-3_2-1_1-2" +
  "_6-1_2-1_4d-1_3-8_l-2_1l-2_3-1_11-7_3-5_1y-6_d-1_1-1_1-1_e-2_2d-8_2-3_1-1_n-1_2c-6_1-1_4-2_1-2_6m-4_6-2_1-2_r-" +
  "2_2d-8_2-1_1-2_2y-1_1-1_2-6_1-1_2t-1_1-1_2-4_1-5_77-9_1-2_74-2_1-1_4-1_40-4_2-2_4-1_w-a_14-6_2-4_8-1_9-6_2-3_1" +
  "a-d_1-2_5i-1_1-3_1-1_5l-7_1-6_1-1_2a-m_2-7_1-2_1-2_3e-6_3-1_1-2_1-7_1-1_20-2_3-1_1-1_9n-2_b-2_1g-5_5-1_1-1_n-1" +
  "_44l-1_6-f_8ug-c_3-3_1xc-5_1n-7_t4-1_1r-4_25-4=1_b-7=9-5p2=15-w=2p-37=6pp-4=1-7=1-2=1-83=f-1=t-3=2-1=e-4=8-b0=" +
  "1wh-2_1-4_3mk-1a_2-n_f4-3_9-g_2-7_u-4_44-3_57-2f=9-n=1ah-1j_4-1e_8-1_e-1_m-5_1-f_11s-7_1-h_2-7_1-2_1-5_2s-1_4g" +
  "-7_af-1_1p-4_e4-4_72-2_6r-1_2-1_7-2_5-1_d6-7_31-7_1bt-1=5m-1=5a-1=2-a=2t-3=d-18=4-9=7-2=e-6=4a-x=c-9=1-1y=1-m=" +
  "c-17=4-5=c-h=3-1=3-1z=1-1=1-57=2-1r=d-4=1-o=i-1=q-2=d-1=2e-2d=1c-1y=6-1=3-3=2-4=3-4=b-2=7-9=6b-c=4-1=7v-1b=1-a" +
  "=1-55=34-d=3-b=3-1l=1-1=4-g=2-c=4-a=zr-1eke=2-1eke=e1oi-3k_3k-6o_47bk-";

const WIDTH_OF: Readonly<Record<string, number>> = { _: 0, "-": 1, "=": 2 };

let table: Uint8Array | undefined;

function widths(): Uint8Array {
  const all = new Uint8Array(0x110000);
  let at = 0;
  for (const [, count = "", kind = ""] of RUNS.matchAll(/([0-9a-z]+)([_=-])/g)) {
    const end = at + Number.parseInt(count, 36);
    all.fill(WIDTH_OF[kind] ?? 1, at, end);
    at = end;
  }
  return all;
}

function widthOf(code: number): 0 | 1 | 2 {
  if (code >= 0x20 && code < 0x7f) return 1;
  table ??= widths();
  const width = table[code];
  return width === 2 ? 2 : width === 1 ? 1 : 0;
}

export const WIDTHS = {
  version: "today",
  wcwidth: widthOf,
  /** The emulator's format: the width, and whether the character joins the one before it. */
  charProperties(code: number, before: number): number {
    const width = widthOf(code);
    const widthBefore = (before >> 1) & 3;
    return width === 0 && widthBefore > 0 ? (widthBefore << 1) | 1 : width << 1;
  },
};
