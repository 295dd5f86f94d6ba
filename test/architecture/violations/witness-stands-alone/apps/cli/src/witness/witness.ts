import { crypto } from '../../../../libs/crypto/src/index.js';
import { config } from '../../../../libs/infra/src/config/index.js';
import { terminal } from '../terminal.js';
import { key } from './witness-key.js';

export const witness = [crypto, config, terminal, key];
