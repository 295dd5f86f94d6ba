import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { ApiError, type Finding } from '../kernel/errors.ts';
import { Dialog, DialogFoot } from '../kit/dialog.tsx';
import { Failure } from '../kit/failure.tsx';
import { Button } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { type Pair, pairOf, type PolicyDraft } from './draft.ts';
import { countsOf, FindingsList } from './findings.tsx';
import { useReread } from './queries.ts';
import { SlotDialog } from './slot-dialog.tsx';

type Version = Schemas['PolicyVersion'];

interface SaveProps {
  readonly policy: Schemas['Policy'];
  readonly draft: PolicyDraft;
  /** The findings about the draft. There are only warnings, because a draft with errors cannot be saved. */
  readonly findings: readonly Finding[];
  readonly onCompare: (pair: Pair) => void;
  /** Goes to a place in the text, and closes the dialog. */
  readonly onGo: (line: number, column: number) => void;
  readonly onClose: () => void;
}

/** Saves the draft as a new version, which decides nothing yet; then offers to enforce it or to run it in shadow. */
export const SaveDialog = (props: SaveProps) => {
  const { policy, draft, onGo, onClose } = props;
  const [saved, setSaved] = useState<Version | null>(null);
  const [mode, setMode] = useState<Schemas['PolicyMode'] | null>(null);
  // The number that the new version gets, kept from when the dialog opened: after saving, the latest version is the new
  // one.
  const [number] = useState(policy.latest_version.version + 1);
  if (saved !== null && mode !== null)
    return <SlotDialog policy={policy} version={saved} mode={mode} onClose={onClose} />;
  if (saved !== null) return <Saved version={saved} number={number} onMode={setMode} onGo={onGo} onClose={onClose} />;
  return (
    <Dialog title={`Save version ${draft.base.number === number - 1 ? number : 'again'}`} onClose={onClose}>
      <SaveForm {...props} number={number} onSaved={setSaved} />
    </Dialog>
  );
};

const useSave = (policy: string, draft: PolicyDraft, onSaved: (version: Version) => void) => {
  const reread = useReread();
  return useChange(
    ({ notes, source, base }: { readonly notes: string; readonly source: string; readonly base: string }, key) =>
      bodyOf(
        api.POST('/v1/policies/{id}/versions', {
          params: { path: { id: policy }, header: { 'Idempotency-Key': key } },
          body: { source, expected_latest_version: base, ...(notes === '' ? {} : { notes }) },
        }),
      ),
    (version) => {
      draft.drop();
      reread();
      onSaved(version);
    },
  );
};

const SaveForm = ({
  policy,
  draft,
  findings,
  number,
  onCompare,
  onGo,
  onClose,
  onSaved,
}: SaveProps & { readonly number: number; readonly onSaved: (version: Version) => void }) => {
  const [notes, setNotes] = useState('');
  const reread = useReread();
  const save = useSave(policy.id, draft, onSaved);
  const { error } = save;
  const refusal = error instanceof ApiError ? error : null;
  const ask = (): void => save.mutate({ notes: notes.trim(), source: draft.source, base: draft.base.id });
  return (
    <>
      <p>Saving creates a new version that has no effect until you enforce it. Saved versions never change.</p>
      {findings.length === 0 ? null : (
        <>
          <p className={kit['dim']}>{countsOf(findings)}. You can still save.</p>
          <FindingsList findings={findings} onGo={onGo} />
        </>
      )}
      <label className={kit['label']}>
        Description of the change (optional)
        <textarea
          className={kit['field']}
          rows={3}
          maxLength={2_000}
          aria-invalid={refusal?.param === 'notes'}
          data-first
          value={notes}
          onChange={({ target }) => setNotes(target.value)}
        />
      </label>
      {error === null ? null : <Failure error={error} onRetry={refusal?.isAnswerLost === true ? ask : undefined} />}
      {refusal?.param === 'expected_latest_version' ? (
        <Button
          onClick={() => {
            reread();
            onClose();
          }}
        >
          View the saved version and keep my draft
        </Button>
      ) : null}
      {refusal === null || refusal.diagnostics.length === 0 ? null : (
        <FindingsList findings={refusal.diagnostics} onGo={onGo} />
      )}
      <DialogFoot>
        <Button
          onClick={() => {
            onCompare(pairOf(draft.base, draft));
            onClose();
          }}
        >
          Compare first
        </Button>
        <Button kind="primary" disabled={save.isPending} onClick={ask}>
          {save.isPending ? 'Saving …' : `Save version ${number}`}
        </Button>
      </DialogFoot>
    </>
  );
};

const Saved = ({
  version,
  number,
  onMode,
  onGo,
  onClose,
}: Pick<SaveProps, 'onGo' | 'onClose'> & {
  readonly version: Version;
  readonly number: number;
  readonly onMode: (mode: Schemas['PolicyMode']) => void;
}) => {
  const isNew = version.version === number;
  return (
    <Dialog title={isNew ? `Version ${version.version} is saved` : 'No new version'} onClose={onClose}>
      <p role="status">
        {isNew
          ? 'This version is not in use yet. Run it in shadow first to see what it would decide without denying any call.'
          : `This text is already saved as version ${version.version}.`}
      </p>
      {version.diagnostics === undefined || version.diagnostics.length === 0 ? null : (
        <FindingsList findings={version.diagnostics} onGo={onGo} />
      )}
      <DialogFoot>
        <Button onClick={onClose}>Later</Button>
        {version.activation === 'enforce' ? null : <Button onClick={() => onMode('enforce')}>Enforce …</Button>}
        {version.activation === null ? (
          <Button kind="primary" data-first onClick={() => onMode('shadow')}>
            Run in shadow …
          </Button>
        ) : null}
      </DialogFoot>
    </Dialog>
  );
};
