export const key = 'key';
