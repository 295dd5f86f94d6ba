import { serve } from '../../standalone/src/main.js';

export const used = serve;
