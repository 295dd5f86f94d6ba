import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { curlOf } from './curl.ts';

const ARGS = { note: 'it\'s $(touch x) `y` \\ " ü \u202e 👍\n', amount: 5 };

it('gives a shell exactly what the agent sent, with any characters in it', () => {
  const command = curlOf('http://127.0.0.1:8080', { tool: 'crm.add_note', args: ARGS, mode: 'gateway' });
  const [, ...words] = execFileSync('sh', ['-c', command.replace('curl', 'printf "%s\\n" curl')], {
    encoding: 'utf8',
    env: { AGENT_KEY: 'svc_test_key' },
  })
    .trimEnd()
    .split('\n');
  expect(words).toContain('Authorization: Bearer svc_test_key');
  expect(JSON.parse(words.at(-1) ?? '')).toEqual({ tool: 'crm.add_note', args: ARGS });
});

it('names the mode if it is not `gateway`', () => {
  expect(curlOf('http://x', { tool: 'a.b', args: {}, mode: 'proxy' })).toContain('"mode":"proxy"');
});
