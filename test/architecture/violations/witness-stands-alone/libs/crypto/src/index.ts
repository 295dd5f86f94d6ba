export const crypto = 'crypto';
