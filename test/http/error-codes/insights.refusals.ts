import type { RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';

const invalid = (param: string): Verdict => [400, 'invalid_request_error', 'validation_failed', param];

const asked = (path: string) => (stage: Stage) => stage.send('GET', path, { key: stage.service.adminKey });

/** What happened, in numbers. */
export const INSIGHTS: RefusalGroup = {
  title: 'the overview and the statistics',
  refusals: [
    {
      rule: 'a window that the overview does not have',
      verdict: invalid('window'),
      provoke: asked('/v1/overview?window=1h'),
    },
    { rule: 'a window without a value', verdict: invalid('window'), provoke: asked('/v1/overview?window=') },
    { rule: 'two windows', verdict: invalid('window'), provoke: asked('/v1/overview?window=24h&window=7d') },
    {
      rule: 'a parameter that the overview does not have',
      verdict: invalid('limit'),
      provoke: asked('/v1/overview?limit=5'),
    },
    {
      rule: 'days of decisions that are not counted',
      verdict: invalid('window'),
      provoke: asked('/v1/insights/decisions?window=24h'),
    },
    {
      rule: 'decisions by what they are not counted by',
      verdict: invalid('by'),
      provoke: asked('/v1/insights/decisions?by=session'),
    },
    {
      rule: 'days of verdicts that are not counted',
      verdict: invalid('window'),
      provoke: asked('/v1/insights/verdicts?window=1y'),
    },
    {
      rule: 'verdicts from a day on',
      verdict: invalid('from'),
      provoke: asked('/v1/insights/verdicts?from=2026-10-01'),
    },
  ],
};
