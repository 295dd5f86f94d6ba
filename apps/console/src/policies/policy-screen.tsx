import { useRef } from 'react';
import { useFilters } from '../kernel/address.ts';
import type { Schemas } from '../kernel/client.ts';
import { useMay } from '../kernel/session.tsx';
import { Badge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Id, Said, Time } from '../kit/kit.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { Cases } from './cases.tsx';
import type { Editor } from './code-editor.ts';
import { useDraft } from './draft.ts';
import { DryRun } from './dry-run.tsx';
import { EditorCard } from './editor-card.tsx';
import { lineOfRule } from './places.ts';
import { PolicyInForce } from './policy-in-force.tsx';
import styles from './policies.module.css';
import { Preview } from './preview.tsx';
import { useLint, usePolicy, usePolicyVersion } from './queries.ts';
import { Replays } from './replays.tsx';
import { Tabs } from './tabs.tsx';
import type { ToolProps } from './tool-props.ts';
import { Versions } from './versions.tsx';

type Policy = Schemas['Policy'];
type Version = Schemas['PolicyVersion'];

export const PolicyScreen = ({ id }: { readonly id: string }) => {
  const { filters } = useFilters();
  const named = filters.get('version');
  const { data: policy, error, refetch } = usePolicy(id);
  const version = usePolicyVersion(id, named);
  const failure = policy === undefined ? error : version.error;
  if (policy === undefined || (named !== null && version.data === undefined)) {
    const again = policy === undefined ? refetch : version.refetch;
    return (
      <>
        <ScreenHead title="Policy" />
        {failure === null ? <Bones /> : <Failure error={failure} onRetry={() => void again()} />}
      </>
    );
  }
  return <PolicyDesk policy={policy} version={named === null ? null : (version.data ?? null)} />;
};

/** @param version an older version that is only shown; null to edit the draft */
const PolicyDesk = ({ policy, version }: { readonly policy: Policy; readonly version: Version | null }) => {
  const may = useMay('admin');
  const draft = useDraft(policy);
  const editor = useRef<Editor | null>(null);
  const source = version?.source ?? draft.source;
  const lint = useLint(source, may);
  // A saved version compiles, and viewers see only saved ones. If the check itself fails, the text is taken as valid,
  // and each tool reports what it finds.
  const isTakenAsValid = version !== null || !draft.isDraft || lint.error !== null;
  const isValid = isTakenAsValid ? true : lint.isOfThis ? (lint.data?.valid ?? null) : null;
  const goToRule = (id: string): void => {
    const line = lineOfRule(source, id);
    if (line !== null) editor.current?.goTo(line);
  };
  return (
    <>
      <ScreenHead title={policy.name} name={<Said text={policy.name} />} badges={<SlotBadges policy={policy} />} />
      <p className={styles['meta']}>
        <Id id={policy.id} /> created <Time at={policy.created_at} isExact />
      </p>
      <PolicyInForce policy={policy} isDraft={draft.isDraft} />
      <div className={styles['desk']}>
        <EditorCard policy={policy} version={version} draft={draft} lint={lint} editorRef={editor} />
        <PolicyTools policy={policy} source={source} isValid={isValid} onRule={goToRule} />
      </div>
    </>
  );
};

const SlotBadges = ({ policy }: { readonly policy: Policy }) => (
  <>
    {policy.enforced_version === null ? null : (
      <Badge tone="ok" icon="checkCircle">
        Enforced
      </Badge>
    )}
    {policy.shadow_version === null ? null : (
      <Badge tone="accent" icon="eye">
        In shadow
      </Badge>
    )}
  </>
);

const TOOL_NAMES = ['preview', 'cases', 'dry-run', 'replays', 'versions'];

/** The tools that try the text in the editor, from the quickest to the most realistic. */
const PolicyTools = (props: ToolProps) => {
  const { filters, set } = useFilters();
  const asked = filters.get('tool') ?? 'preview';
  const tabs = [
    { name: 'preview', word: 'Preview', content: () => <Preview {...props} /> },
    { name: 'cases', word: 'Cases', content: () => <Cases {...props} /> },
    { name: 'dry-run', word: 'Dry run', content: () => <DryRun {...props} /> },
    { name: 'replays', word: 'Replays', content: () => <Replays policy={props.policy} onRule={props.onRule} /> },
    { name: 'versions', word: 'Versions', content: () => <Versions policy={props.policy} /> },
  ];
  return (
    <Tabs
      label="Try it"
      tabs={tabs}
      shown={TOOL_NAMES.includes(asked) ? asked : 'preview'}
      onShow={(name) => set('tool', name === 'preview' ? null : name)}
    />
  );
};
