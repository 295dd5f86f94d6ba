import { isCelError, parse, plan } from '@bufbuild/cel';

import { ENVIRONMENT } from './environment.js';

const succeeds = (expression: string): ((text: string) => boolean) => {
  const evaluate = plan(ENVIRONMENT, parse(expression));
  return (text) => !isCelError(evaluate({ text }));
};

/** Read by the evaluator itself, so that what is accepted here is what works later. */
export const isTimestamp = succeeds('timestamp(text)');
export const isDuration = succeeds('duration(text)');
