import { digest } from '../../../../libs/crypto/src/index.ts';
import { plain } from './said.ts';

export const used = [digest, plain];
