export const digestOf = 1;
