/**
 * Characters that a reader does not see: controls, format and direction marks, private and unassigned code points,
 * separators of lines, variation selectors and fillers. Here, because whoever shows what people approved and whoever shows
 * it in a bundle must agree on it.
 */
export const HIDDEN_CHARACTERS = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800\u3164\u115F\u1160\uFFA0]/u;
