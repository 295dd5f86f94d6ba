import { judge } from '../../../../libs/crypto/src/index.ts';
import { view } from '../../../../libs/evidence/src/index.ts';

export const used = [judge, view];
