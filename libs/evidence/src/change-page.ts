import { actorFact } from './action-page.js';
import type { ChangeAccount } from './change-account.js';
import { givenLines } from './given-text.js';
import { block, fact, namedFact, type Page } from './page.js';
import { visible } from './value-text.js';

const LABELS: Readonly<Record<string, string>> = {
  connector_config: 'the configuration that it set',
  policy_source: 'the text of the policy',
};

/** The account of a change. */
export const pageOfChange = (account: ChangeAccount): Page => ({
  title: account.action,
  subtitle: account.id,
  sections: [
    {
      heading: 'The change',
      parts: [
        ...fact('at', account.issued_at),
        ...actorFact('by', account.actor),
        ...namedFact('of', account.target, `${account.target.type.replace('_', ' ')} `),
        ...fact('reason', account.reason === null ? null : visible(account.reason)),
        ...block('data', account.data === null ? null : givenLines(account.data)),
        ...account.documents.flatMap(({ document, given }) => block(LABELS[document] ?? document, givenLines(given))),
        ...fact('sealed at', `seq ${account.seq}`),
      ],
    },
  ],
});
