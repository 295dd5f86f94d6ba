import { serve } from '../../apps/standalone/src/main.js';

export const used = serve;
