export const rules = 1;
