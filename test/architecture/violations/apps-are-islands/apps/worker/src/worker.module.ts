import { app } from '../../api/src/app.module.js';
import { sweep } from './sweep.js';

export const used = [app, sweep];
