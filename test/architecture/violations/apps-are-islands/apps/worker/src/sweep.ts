export const sweep = 1;
