import { givenSecret } from './testing/given-secret.js';

export const used = givenSecret;
