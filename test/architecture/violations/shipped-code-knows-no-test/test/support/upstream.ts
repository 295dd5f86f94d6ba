export const upstream = 1;
