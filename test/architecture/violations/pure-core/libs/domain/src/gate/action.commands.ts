import { randomUUID } from 'crypto';

export const used = randomUUID;
