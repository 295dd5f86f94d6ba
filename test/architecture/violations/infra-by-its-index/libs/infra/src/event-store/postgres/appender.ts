export const appender = 1;
