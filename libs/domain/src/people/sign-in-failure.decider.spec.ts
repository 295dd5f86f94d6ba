import { describe, it } from 'vitest';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import { givenFor, NOW } from '../../../../test/support/given.js';
import { testId } from '../../../../test/support/given-log.js';
import { signInFailureDecider, type SignInFailureEvent } from './sign-in-failure.decider.js';

const given = givenFor(signInFailureDecider);
const of = { org: ORG, user: testId('usr', 1) };
const record = (isUsedUp: boolean) => ({ type: 'RecordFailure', data: { ...of, isUsedUp } }) as const;
const failed = (why: 'wrong_code' | 'code_used_up'): SignInFailureEvent => ({
  type: 'SignInFailed',
  data: { ...of, why, at: NOW },
});

describe('a code that was guessed', () => {
  it('is told of at its first miss and when it is used up, and no more', () => {
    given().when(record(false)).then(failed('wrong_code'));
    given(failed('wrong_code')).when(record(false)).thenNothing();
    given(failed('wrong_code')).when(record(true)).then(failed('code_used_up'));
    given(failed('wrong_code'), failed('code_used_up')).when(record(true)).thenNothing();
  });

  it('is told of in the same way where nobody looked before it was used up', () =>
    given().when(record(true)).then(failed('wrong_code'), failed('code_used_up')));
});
