import { useEffect } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf } from '../kernel/client.ts';
import { useChanged } from '../kernel/refresh.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Button } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { connectorQuery } from './queries.ts';
import styles from './served-tools.module.css';
import { type LookedAt, overtakenTool } from './served-tools.ts';
import { CHANGED, type Connector } from './types.ts';

/** What was accepted, and the deed that seals it; null if all of it had been accepted before. */
export interface Accepted {
  readonly tools: readonly LookedAt[];
  readonly deed: string | null;
}

/** Asks whether agents may call these tools from here on, in the definitions that were looked at. */
export const AcceptDialog = ({
  connector: { id },
  tools,
  onAccepted,
  onClose,
}: {
  readonly connector: Connector;
  readonly tools: readonly LookedAt[];
  readonly onAccepted: (accepted: Accepted) => void;
  readonly onClose: () => void;
}) => {
  const changed = useChanged();
  const accept = useChange(
    (wish: readonly LookedAt[], key) =>
      bodyOf(
        api.POST('/v1/connectors/{id}/tools/accept', {
          params: { path: { id }, header: { 'Idempotency-Key': key } },
          body: { tools: [...wish] },
        }),
      ),
    (answer) => {
      changed(CHANGED, { of: connectorQuery(id), is: answer });
      onAccepted({ tools, deed: answer.deed ?? null });
    },
  );
  const overtaken = overtakenTool(accept.error, tools);
  // What the server says by now is read while the person reads that it has changed.
  useEffect(() => {
    if (overtaken !== null) changed(CHANGED);
    // Depends on the error, so that each refusal reads it again.
  }, [accept.error]);
  const [first] = tools;
  const what = tools.length === 1 && first !== undefined ? first.name : `${tools.length} tools`;
  return (
    <FormDialog
      title={`Accept ${what}?`}
      action={`Accept ${what}`}
      busy="Accepting …"
      isPending={accept.isPending}
      isReady={overtaken === null}
      error={overtaken === null ? accept.error : null}
      onSubmit={() => accept.mutate(tools)}
      onClose={onClose}
    >
      <Consequence tools={tools} />
      {overtaken === null ? null : <Overtaken tool={overtaken} onAgain={onClose} />}
    </FormDialog>
  );
};

/** What agents may do from then on. */
const Consequence = ({ tools }: { readonly tools: readonly LookedAt[] }) => {
  const [these, them] = tools.length === 1 ? ['this tool', 'it'] : ['these tools', 'them'];
  return (
    <>
      <p>
        Agents then see {these} as the server describes {them} now, and may call {them} wherever the enforced policy
        allows it. The description is the server’s own: the service cannot check what a call does. Your decision is
        sealed in a deed.
      </p>
      {tools.length === 1 ? null : (
        <ul className={styles['names']} tabIndex={0} aria-label="Tools to accept">
          {tools.map(({ name }) => (
            <li key={name}>
              <code>{name}</code>
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

/** Shown if the server has changed a tool again since the person looked at it. */
const Overtaken = ({ tool, onAgain }: { readonly tool: string; readonly onAgain: () => void }) => (
  <div className={kit['notice']} role="alert">
    <strong>
      The server has changed {tool} again since you looked at it. Nothing was accepted, and nothing is lost.
    </strong>
    <div>
      <Button isSmall onClick={onAgain}>
        Look at it again
      </Button>
    </div>
  </div>
);
