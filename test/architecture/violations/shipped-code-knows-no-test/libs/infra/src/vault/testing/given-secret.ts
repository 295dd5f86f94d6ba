import { test } from 'vitest';
import { upstream } from '../../../../../test/support/upstream.js';

export const givenSecret = [test, upstream];
