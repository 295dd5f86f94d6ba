import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState } from 'react';
import type { Schemas } from '../kernel/client.ts';
import type { Finding } from '../kernel/errors.ts';
import { Failure } from '../kit/failure.tsx';
import { Bones } from '../kit/kit.tsx';
import type { Editor } from './code-editor.ts';
import styles from './policies.module.css';
import { counted } from './outcome.tsx';
import { editorCode, languageQuery, useTools } from './queries.ts';

/** CodeMirror uses line feeds only. */
const unix = (text: string): string => text.replaceAll('\r\n', '\n');

const NO_TOOLS: readonly Schemas['Tool'][] = [];

interface EditorProps {
  readonly label: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly findings: readonly Finding[];
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  /** Set while the editor is mounted, for callers that want to go to a line. */
  readonly editorRef: RefObject<Editor | null>;
}

/** The editor of a policy source. Its code is loaded when it is first shown. */
export const CodeEditor = ({ label, text, isReadOnly, findings, onChange, onSave, editorRef }: EditorProps) => {
  const { data: code, error, refetch } = useQuery(editorCode);
  const { data: language = null } = useQuery(languageQuery);
  const { data: tools = NO_TOOLS } = useTools();
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | null>(null);
  const now = useRef({ text, onChange, onSave, language, tools });
  useEffect(() => {
    now.current = { text, onChange, onSave, language, tools };
  });
  useEffect(() => {
    if (code === undefined || host.current === null) return undefined;
    const made = code.mountEditor(host.current, {
      label,
      text: unix(now.current.text),
      isReadOnly,
      onChange: (written) => now.current.onChange(written),
      onSave: () => now.current.onSave(),
      language: () => now.current.language,
      tools: () => now.current.tools,
    });
    editorRef.current = made;
    setEditor(made);
    return () => {
      editorRef.current = null;
      setEditor(null);
      made.destroy();
    };
  }, [code, label, isReadOnly, editorRef]);
  useEffect(() => editor?.setText(unix(text)), [editor, text]);
  useEffect(() => editor?.setFindings(findings), [editor, findings]);
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  return (
    <>
      {code === undefined ? <Bones count={10} /> : null}
      <div ref={host} className={styles['editor']} hidden={code === undefined} />
    </>
  );
};

/** Shows the differences from `before` to `after`. */
export const Comparison = ({
  label,
  before,
  after,
}: {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}) => {
  const { data: code, error, refetch } = useQuery(editorCode);
  const host = useRef<HTMLDivElement>(null);
  const [lines, setLines] = useState<{ readonly added: number; readonly removed: number } | null>(null);
  useEffect(() => {
    if (code === undefined || host.current === null) return undefined;
    const compared = code.mountComparison(host.current, { label, before: unix(before), after: unix(after) });
    setLines(compared);
    return () => compared.destroy();
  }, [code, label, before, after]);
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <p className={styles['compared']} role="status">
        {lines === null
          ? 'Comparing …'
          : lines.added + lines.removed === 0
            ? 'No differences.'
            : `${counted(lines.added, 'line')} added, ${counted(lines.removed, 'line')} removed`}
      </p>
      {code === undefined ? <Bones count={10} /> : null}
      <div ref={host} className={styles['editor']} hidden={code === undefined} />
    </>
  );
};
