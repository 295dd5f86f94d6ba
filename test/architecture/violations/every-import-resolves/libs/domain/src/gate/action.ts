import { gone } from '#libs/domain/gone';
import { lost } from './lost.js';
import { digestOf } from '#libs/crypto';

export const used = [gone, lost, digestOf];
