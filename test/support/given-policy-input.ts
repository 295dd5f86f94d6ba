import type { PolicyInput } from '#libs/domain/policies';

/** A call that reads a customer, on nobody's behalf, but for `changes`. */
export const policyInput = (changes: Partial<PolicyInput> = {}): PolicyInput => ({
  tool: 'crm.get_customer',
  args: {},
  agent: { id: 'agt_00000000000000000000000001', name: 'support-1', labels: { team: 'support' } },
  user: { ref: null },
  session: { ref: null },
  intent: { signed: false },
  mode: 'gateway',
  side_effect: 'read',
  now: '2026-10-01T12:00:00.000Z',
  request: {},
  ...changes,
});
