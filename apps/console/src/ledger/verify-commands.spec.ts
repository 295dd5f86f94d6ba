import { expect, it } from 'vitest';
import { verifyCommands } from './verify-commands.ts';

it('names each export as the service names the file', () => {
  const { plain, withEvidence } = verifyCommands('org_1');
  expect(plain).toContain(' deeds-org_1-*.tar.gz --org org_1 ');
  for (const line of withEvidence.split('\n')) expect(line).toContain(' evidence-org_1-*.tar.gz ');
  expect(withEvidence).toContain('bundle html');
});
