import { digest } from '../../../../libs/crypto/src/index.ts';

export const used = <p>{digest}</p>;
