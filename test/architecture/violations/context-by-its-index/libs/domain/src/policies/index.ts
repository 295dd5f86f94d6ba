export const policies = 1;
