import type { Schemas } from '../kernel/client.ts';
import { SIDE_EFFECT_VALUES } from '../kernel/contract.ts';
import { plain } from '../kernel/said.ts';
import type { Choice } from './choice.ts';

export type CatalogueTool = Pick<Schemas['Tool'], 'name' | 'side_effect' | 'description'>;

/** The connector of a qualified tool name: `crm` of `crm.notes.list`. Names of connectors hold no dot. */
const connectorOf = ({ name }: CatalogueTool): string => name.split('.', 1)[0] ?? name;

const wildcardOf = (connector: string, tools: readonly CatalogueTool[]): Choice => {
  const effects = SIDE_EFFECT_VALUES.filter((effect) => tools.some(({ side_effect: one }) => one === effect));
  const count = tools.length === 1 ? 'one tool' : `all ${tools.length} tools`;
  return { label: `${connector}.*`, detail: `${effects.join(', ')}: ${count}`, kind: 'enum' };
};

/** The server of a tool may say as much as it likes of it. */
const DETAIL_MAX_LENGTH = 200;

const inShort = (text: string): string =>
  text.length <= DETAIL_MAX_LENGTH ? text : `${text.slice(0, DETAIL_MAX_LENGTH)} …`;

const toolOf = ({ name, side_effect: effect, description }: CatalogueTool): Choice => ({
  label: name,
  detail: description === null ? effect : `${effect}: ${plain(inShort(description))}`,
  kind: 'enum',
});

/**
 * The completions under `tools:` of a match: for each connector a glob for all its tools, then each tool with its side
 * effect.
 */
export const toolChoices = (tools: readonly CatalogueTool[]): readonly Choice[] =>
  [...new Set(tools.map(connectorOf))].flatMap((connector) => {
    const own = tools.filter((tool) => connectorOf(tool) === connector);
    return [wildcardOf(connector, own), ...own.map(toolOf)];
  });
