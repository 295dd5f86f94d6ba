export const postgresStore = 1;
