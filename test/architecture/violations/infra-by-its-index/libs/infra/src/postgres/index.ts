export const postgres = 1;
