import { type RefObject, useState } from 'react';
import { useFilters } from '../kernel/address.ts';
import type { Schemas } from '../kernel/client.ts';
import type { Finding } from '../kernel/errors.ts';
import { useMay } from '../kernel/session.tsx';
import { Badge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Button } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import type { Editor } from './code-editor.ts';
import { type Pair, pairOf, type PolicyDraft } from './draft.ts';
import { CodeEditor, Comparison } from './editor.tsx';
import { countsOf, FindingsList } from './findings.tsx';
import { MeanwhileSaved } from './meanwhile-saved.tsx';
import styles from './policies.module.css';
import type { useLint } from './queries.ts';
import { SaveDialog } from './save-dialog.tsx';
import { SlotDialog } from './slot-dialog.tsx';

type Version = Schemas['PolicyVersion'];

interface CardProps {
  readonly policy: Schemas['Policy'];
  /** An older version that is only shown; null to edit the draft. */
  readonly version: Version | null;
  readonly draft: PolicyDraft;
  readonly lint: ReturnType<typeof useLint>;
  readonly editorRef: RefObject<Editor | null>;
}

const NONE: readonly Finding[] = [];

/** The text of a policy: read-only, in the editor, or compared with another text. */
export const EditorCard = (props: CardProps) => {
  const { policy, version, draft, lint, editorRef } = props;
  const may = useMay('admin');
  const [isSaving, setSaving] = useState(false);
  const [pair, setPair] = useState<Pair | null>(null);
  const isWritable = may && version === null;
  const source = version?.source ?? draft.source;
  const findings = (may && lint.data?.diagnostics) || NONE;
  return (
    <section className={styles['card']} aria-label="The text of the policy">
      <CardHead {...props} isWritable={isWritable} pair={pair} onPair={setPair} onSave={() => setSaving(true)} />
      {draft.isBehind && version === null ? <MeanwhileSaved policy={policy} draft={draft} onCompare={setPair} /> : null}
      {pair === null ? (
        <>
          <CodeEditor
            label={
              isWritable
                ? 'Source of the policy. Tab indents; Escape, then Tab leaves the editor.'
                : 'Source of the policy, read-only'
            }
            text={source}
            isReadOnly={!isWritable}
            findings={findings}
            onChange={draft.write}
            onSave={() => setSaving(draft.isDraft)}
            editorRef={editorRef}
          />
          {may ? <Findings lint={lint} onGo={(line, column) => editorRef.current?.goTo(line, column)} /> : null}
        </>
      ) : (
        <Comparison label={pair.title} before={pair.before} after={pair.after} />
      )}
      {isSaving ? (
        <SaveDialog
          policy={policy}
          draft={draft}
          findings={findings}
          onCompare={setPair}
          onGo={(line, column) => {
            setSaving(false);
            // Waits until the closing dialog has given the focus back; the editor takes it then.
            setTimeout(() => editorRef.current?.goTo(line, column));
          }}
          onClose={() => setSaving(false)}
        />
      ) : null}
    </section>
  );
};

const CardHead = ({
  policy,
  version,
  draft,
  lint,
  isWritable,
  pair,
  onPair,
  onSave,
}: CardProps & {
  readonly isWritable: boolean;
  readonly pair: Pair | null;
  readonly onPair: (pair: Pair | null) => void;
  readonly onSave: () => void;
}) => {
  const latest = policy.latest_version;
  if (pair !== null) {
    return (
      <div className={styles['cardHead']}>
        <h2>{pair.title}</h2>
        <Button isSmall onClick={() => onPair(null)}>
          Back to the text
        </Button>
      </div>
    );
  }
  if (version !== null) return <VersionHead policy={policy} version={version} draft={draft} onPair={onPair} />;
  const isBad = lint.isOfThis && lint.data?.valid === false;
  return (
    <div className={styles['cardHead']}>
      <h2>{draft.isDraft ? `Draft of version ${latest.version + 1}` : `Version ${latest.version}, the latest`}</h2>
      {draft.isDraft ? (
        <Badge tone="warn" icon="alert">
          not saved
        </Badge>
      ) : null}
      {isWritable && draft.isDraft ? (
        <span className={styles['buttons']}>
          <Button isSmall onClick={() => onPair(pairOf(draft.base, draft))}>
            Compare
          </Button>
          <DropDraft draft={draft} />
          <Button isSmall kind="primary" disabled={isBad} onClick={onSave}>
            Save …
          </Button>
        </span>
      ) : null}
      {isWritable && !draft.isDraft ? <IntoSlot policy={policy} /> : null}
      {isWritable ? null : (
        <p className={kit['dim']}>Your role is read-only. An admin or owner can change this policy.</p>
      )}
    </div>
  );
};

/** Offers to enforce the latest version or to run it in shadow, if it is in neither slot. */
const IntoSlot = ({ policy }: { readonly policy: Schemas['Policy'] }) => {
  const [mode, setMode] = useState<Schemas['PolicyMode'] | null>(null);
  const { latest_version: latest } = policy;
  if (latest.activation !== null) return null;
  return (
    <span className={styles['buttons']}>
      <Button isSmall kind="primary" onClick={() => setMode('shadow')}>
        Run in shadow …
      </Button>
      <Button isSmall onClick={() => setMode('enforce')}>
        Enforce …
      </Button>
      {mode === null ? null : <SlotDialog policy={policy} version={latest} mode={mode} onClose={() => setMode(null)} />}
    </span>
  );
};

/** Asks for a second press, because the draft is stored nowhere else. */
const DropDraft = ({ draft }: { readonly draft: PolicyDraft }) => {
  const [isArmed, setArmed] = useState(false);
  return (
    <Button
      isSmall
      kind={isArmed ? 'danger' : 'plain'}
      onClick={() => (isArmed ? draft.drop() : setArmed(true))}
      onBlur={() => setArmed(false)}
    >
      {isArmed ? 'Confirm discard' : 'Discard'}
    </Button>
  );
};

const VersionHead = ({
  policy,
  version,
  draft,
  onPair,
}: Pick<CardProps, 'policy' | 'draft'> & {
  readonly version: Version;
  readonly onPair: (pair: Pair) => void;
}) => {
  const may = useMay('admin');
  const { set } = useFilters();
  const latest = policy.latest_version;
  const pair: Pair = {
    title: `From version ${version.version} to version ${latest.version}`,
    before: version.source,
    after: latest.source,
  };
  return (
    <div className={styles['cardHead']}>
      <h2>Version {version.version}</h2>
      <Badge tone="quiet" icon="eye">
        read-only
      </Badge>
      <span className={styles['buttons']}>
        {version.id === latest.id ? null : (
          <Button isSmall onClick={() => onPair(pair)}>
            Compare with the latest
          </Button>
        )}
        {may && !draft.isDraft && version.id !== latest.id ? (
          <Button
            isSmall
            onClick={() => {
              draft.begin(version.source);
              set('version', null);
            }}
          >
            Start a draft from this version
          </Button>
        ) : null}
        <Button isSmall onClick={() => set('version', null)}>
          {draft.isDraft ? 'Back to your draft' : 'Back to the latest'}
        </Button>
      </span>
    </div>
  );
};

const saidOf = (isValid: boolean, findings: readonly Finding[]): string =>
  isValid ? countsOf(findings) : `${countsOf(findings)}. Correct the errors to save.`;

const Findings = ({
  lint,
  onGo,
}: {
  readonly lint: CardProps['lint'];
  readonly onGo: (line: number, column: number) => void;
}) => {
  if (lint.error !== null) return <Failure error={lint.error} onRetry={() => void lint.refetch()} />;
  const findings = lint.data?.diagnostics ?? NONE;
  return (
    <div className={styles['checked']} data-checked={lint.isOfThis ? '' : undefined}>
      <p role="status" className={kit['dim']}>
        {lint.isOfThis ? saidOf(lint.data?.valid !== false, findings) : 'Checking …'}
      </p>
      <FindingsList findings={findings} onGo={onGo} />
    </div>
  );
};
