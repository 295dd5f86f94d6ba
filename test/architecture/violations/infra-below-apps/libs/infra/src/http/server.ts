import { app } from '../../../../apps/api/src/app.module.js';

export const used = app;
