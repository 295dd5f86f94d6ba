import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, nextDiagnostic, setDiagnostics } from '@codemirror/lint';
import { getChunks, unifiedMergeView } from '@codemirror/merge';
import { Annotation, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Finding } from '../kernel/errors.ts';
import { HIDDEN_CHARACTERS, markOf, plain } from '../kernel/said.ts';
import { type Completed, completionsAt } from './completions.ts';
import { COMPARISON_THEME, EDITOR_THEME } from './editor-theme.ts';
import { placeOf } from './places.ts';
import type { CatalogueTool } from './tool-choices.ts';
import type { Schemas } from '../kernel/client.ts';

export interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  /** Called with the text after a person changed it, and not after `setText`. */
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  /** The completions; null while they are loading, or if they cannot be loaded: then nothing is offered. */
  readonly language: () => Schemas['PolicyLanguage'] | null;
  /** Empty while they are loading. */
  readonly tools: () => readonly CatalogueTool[];
}

export interface Editor {
  readonly setText: (text: string) => void;
  readonly setFindings: (findings: readonly Finding[]) => void;
  /** Line and column count from 1, the column in characters. */
  readonly goTo: (line: number, column?: number) => void;
  readonly destroy: () => void;
}

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--ink-2)' },
  { tag: [tags.invalid], color: 'var(--bad)' },
]);

const ownRoot = (host: HTMLElement): { readonly root: ShadowRoot; readonly parent: HTMLElement } => {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  // Without these styles, the editor grows beyond its panel. A style sheet object, because the content policy forbids
  // style elements.
  sheet.replaceSync(':host{display:block;overflow:hidden} :host>div{height:100%}');
  root.adoptedStyleSheets = [sheet];
  const parent = document.createElement('div');
  root.replaceChildren(parent);
  return { root, parent };
};

/** Shows invisible characters as their code points, as everywhere in the Console. */
const hiddenCharacters = (): Extension =>
  highlightSpecialChars({
    specialChars: new RegExp(HIDDEN_CHARACTERS.source, 'gu'),
    render: (code, description) => {
      const mark = document.createElement('mark');
      mark.textContent = markOf(String.fromCodePoint(code));
      mark.title = description ?? 'a character that does not show';
      return mark;
    },
  });

const common = (label: string): Extension => [
  EDITOR_THEME,
  syntaxHighlighting(HIGHLIGHT),
  hiddenCharacters(),
  lineNumbers(),
  drawSelection(),
  yaml(),
  // A read-only text is focusable, too, so that the keyboard can scroll it.
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
];

/** Marks a transaction by which the page sets the text, so that it is not reported as a person's change. */
const fromPage = Annotation.define<boolean>();

/** Creates the editor of one policy source. */
export const mountEditor = (host: HTMLElement, options: EditorOptions): Editor => {
  const { root, parent } = ownRoot(host);
  const view = new EditorView({
    root,
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [common(options.label), options.isReadOnly ? reading() : writing(options)],
    }),
  });
  // Findings below the editor, or a phone's keyboard, make it lower. The cursor is then scrolled back into view.
  const resized = new ResizeObserver(() => {
    if (view.hasFocus) view.dispatch({ effects: EditorView.scrollIntoView(view.state.selection.main.head) });
  });
  resized.observe(host);
  return {
    setText: (text) => {
      if (text === view.state.doc.toString()) return;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        annotations: fromPage.of(true),
      });
    },
    setFindings: (findings) => {
      const marks = findings.map((finding) => diagnosticOf(view.state, finding));
      view.dispatch(setDiagnostics(view.state, marks));
    },
    goTo: (line, column = 1) => {
      const at = placeOf(view.state.doc, line, column).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
      view.focus();
    },
    destroy: () => {
      resized.disconnect();
      view.destroy();
    },
  };
};

const reading = (): Extension => [EditorState.readOnly.of(true), EditorView.editable.of(false)];

const TAB_LEAVES_MS = 2_000;

/**
 * After Escape, Tab leaves the editor for two seconds. One Escape is enough, even if it also closed the completions.
 */
const escapeThenTab = (): Extension =>
  EditorView.domEventObservers({
    keydown: ({ key }, view) => {
      if (key === 'Escape') view.setTabFocusMode(TAB_LEAVES_MS);
    },
  });

/**
 * Inserts text that is typed over a selection. The browser's own insertion would keep the colours of the replaced text
 * as inline styles, which the content policy refuses.
 */
const typedOverSelection = (): Extension =>
  EditorView.domEventHandlers({
    beforeinput: ({ inputType, data, isComposing }, view) => {
      const { from, to } = view.state.selection.main;
      if (inputType !== 'insertText' || data === null || isComposing || from === to) return false;
      const typed = { userEvent: 'input.type', scrollIntoView: true };
      const insert = () => view.state.update(view.state.replaceSelection(data), typed);
      const handlers = view.state.facet(EditorView.inputHandler);
      if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
      return true;
    },
  });

/** Returns true, which keeps the browser from saving the page. */
const saved = (onSave: () => void): true => {
  onSave();
  return true;
};

const writing = ({ onChange, onSave, language, tools }: EditorOptions): Extension => [
  history(),
  escapeThenTab(),
  typedOverSelection(),
  lintGutter(),
  indentOnInput(),
  indentUnit.of('  '),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  autocompletion({
    override: [({ state, pos, explicit }) => offered(state, pos, explicit, { language: language(), tools: tools() })],
  }),
  keymap.of([
    { key: 'Mod-s', run: () => saved(onSave) },
    { key: 'F8', run: nextDiagnostic },
    ...completionKeymap,
    indentWithTab,
    ...historyKeymap,
    ...defaultKeymap,
  ]),
  EditorView.updateListener.of(({ docChanged, state, transactions }) => {
    if (!docChanged || transactions.some((one) => one.annotation(fromPage) === true)) return;
    onChange(state.doc.toString());
  }),
];

interface Known {
  readonly language: Schemas['PolicyLanguage'] | null;
  readonly tools: readonly CatalogueTool[];
}

const offered = (state: EditorState, at: number, isAsked: boolean, { language, tools }: Known) => {
  if (language === null) return null;
  const found: Completed | null = completionsAt(state.doc.sliceString(0, at), language, tools);
  if (found === null || (found.from === at && !isAsked)) return null;
  return {
    from: found.from,
    options: found.options.map(({ label, detail, insert, kind }) => ({
      label,
      detail,
      type: kind,
      ...(insert === undefined ? {} : { apply: insert }),
    })),
    validFor: /^[\w.]*$/,
  };
};

const diagnosticOf = ({ doc }: EditorState, finding: Finding): Diagnostic => ({
  ...placeOf(doc, finding.line, finding.column),
  severity: finding.severity,
  message: plain(`${finding.message} ${finding.hint}`),
});

export interface Compared {
  readonly added: number;
  readonly removed: number;
  readonly destroy: () => void;
}

/** Shows the differences from `before` to `after` in one column, which fits a phone, too. */
export const mountComparison = (
  host: HTMLElement,
  { label, before, after }: { readonly label: string; readonly before: string; readonly after: string },
): Compared => {
  const { root, parent } = ownRoot(host);
  const view = new EditorView({
    root,
    parent,
    state: EditorState.create({
      doc: after,
      extensions: [
        COMPARISON_THEME,
        common(label),
        reading(),
        unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 8 } }),
      ],
    }),
  });
  const original = EditorState.create({ doc: before }).doc;
  const chunks = getChunks(view.state)?.chunks ?? [];
  const lines = (doc: EditorState['doc'], from: number, to: number, end: number): number =>
    from >= to ? 0 : doc.lineAt(end).number - doc.lineAt(from).number + 1;
  return {
    added: chunks.reduce((sum, { fromB, toB, endB }) => sum + lines(view.state.doc, fromB, toB, endB), 0),
    removed: chunks.reduce((sum, { fromA, toA, endA }) => sum + lines(original, fromA, toA, endA), 0),
    destroy: () => view.destroy(),
  };
};
