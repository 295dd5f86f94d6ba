import { EditorView } from '@codemirror/view';

const SELECTED = 'color-mix(in srgb, var(--accent) 24%, transparent)';

/**
 * Uses the page's custom properties, which are inherited into the shadow root. So the editor follows both themes, and a
 * change of theme at once.
 */
export const EDITOR_THEME = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--ground)', fontSize: 'var(--editor-size)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': {
    color: 'var(--ink-3)',
    backgroundColor: 'var(--ground-2)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--ground-3) 55%, transparent)' },
  '&.cm-focused .cm-activeLineGutter': { color: 'var(--ink)', backgroundColor: 'var(--ground-3)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: SELECTED,
  },
  '.cm-content ::selection': { backgroundColor: SELECTED },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-ground)', color: 'inherit' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-ground)', color: 'inherit' },
  mark: {
    padding: '0 2px',
    borderRadius: '3px',
    color: 'var(--warn)',
    backgroundColor: 'var(--warn-ground)',
  },
  '.cm-tooltip': {
    maxWidth: 'min(34rem, 90vw)',
    color: 'var(--ink)',
    backgroundColor: 'var(--ground)',
    border: '1px solid var(--edge)',
    borderRadius: 'var(--round)',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--ink)',
    backgroundColor: 'var(--accent-ground)',
  },
  '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal', fontFamily: 'var(--text)' },
  '.cm-completionIcon': { display: 'none' },
  '.cm-diagnostic': { padding: '6px 10px', fontFamily: 'var(--text)' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-diagnostic-warning': { borderLeft: '3px solid var(--warn)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--warn) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-changedLine, &.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--ok-ground)' },
  '.cm-insertedLine': { backgroundColor: 'var(--ok-ground)' },
  '&.cm-merge-b .cm-changedText, .cm-changedText': {
    background: 'color-mix(in srgb, var(--ok) 22%, transparent)',
  },
  '.cm-deletedChunk': { color: 'var(--ink)', backgroundColor: 'var(--bad-ground)' },
  '.cm-deletedChunk .cm-deletedText, .cm-deletedText': {
    background: 'color-mix(in srgb, var(--bad) 22%, transparent)',
  },
  '.cm-deletedLine, .cm-deletedLine del': { textDecoration: 'none' },
  '.cm-collapsedLines': {
    color: 'var(--ink-2)',
    background: 'var(--ground-2)',
    padding: '4px 12px',
  },
  // Replaces the library's own signs, which few fonts have.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' },
});

/** The comparison of two texts in one column. A sign before each added or removed line says the same as its colour. */
export const COMPARISON_THEME = EditorView.theme({
  '.cm-line, &.cm-merge-b .cm-deletedChunk, .cm-deletedChunk': { paddingLeft: '22px' },
  '.cm-changedLine, .cm-deletedLine': { position: 'relative' },
  '.cm-changedLine:before, .cm-deletedLine:before': { position: 'absolute', fontWeight: '600' },
  '.cm-changedLine:before': { content: '"+"', left: '7px', color: 'var(--ok)' },
  '.cm-deletedLine:before': { content: '"−"', left: '-15px', color: 'var(--bad)' },
});
