import { decide } from '../../../../libs/domain/src/gate/action.decider.js';
import { gate } from '#libs/domain/gate';
import { digestOf } from '#libs/crypto';

export const used = [decide, gate, digestOf];
