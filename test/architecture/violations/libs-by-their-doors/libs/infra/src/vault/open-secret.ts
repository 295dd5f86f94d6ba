import { sign } from '../../../crypto/src/ed25519.js';
import { clock } from '../../../domain/src/kernel/clock.port.js';

export const used = [sign, clock];
