export const action = 1;
