import type { Json } from './draft.ts';

interface Stored {
  readonly name: string;
  readonly config: Json;
  readonly credential: object | null;
}

const memberOf = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? (value as { readonly [name: string]: Json })[name]
    : undefined;

const toolsOf = (config: Json): readonly string[] => {
  const tools = memberOf(config, 'tools');
  return (Array.isArray(tools) ? tools : []).flatMap((tool: Json) => {
    const name = memberOf(tool, 'name');
    return typeof name === 'string' ? [name] : [];
  });
};

/** The members that say where a credential travels, of any type. */
const ADDRESS = ['base_url', 'url', 'host', 'port'];

const witnessConsequences = (isOn: boolean, next: Json): readonly string[] => {
  const willBeOn = memberOf(memberOf(next, 'witness'), 'enabled') === true;
  if (isOn === willBeOn) return [];
  return willBeOn
    ? ['Writes fail until the witness is set up. Test the connector afterwards: the test says what is missing.']
    : ['Writes are not verified any more, and the replication slot is dropped.'];
};

/** What a change of the config causes beyond the config itself, each consequence as a sentence with advice. */
export const consequencesOf = ({ name, config, credential }: Stored, next: Json): readonly string[] => {
  const differs = (...path: readonly string[]): boolean => {
    const at = (value: Json): Json | undefined => path.reduce<Json | undefined>(memberOf, value);
    return JSON.stringify(at(config)) !== JSON.stringify(at(next));
  };
  const kind = memberOf(memberOf(next, 'auth'), 'kind') ?? 'none';
  const isOtherKind = kind !== (memberOf(memberOf(config, 'auth'), 'kind') ?? 'none');
  const gone = toolsOf(config).filter((tool) => !toolsOf(next).includes(tool));
  return [
    ...(credential !== null && ADDRESS.some((member) => differs(member))
      ? [
          'From the next call on, the stored credential is sent to the new address. If it must not be, destroy the credential first.',
        ]
      : []),
    ...(isOtherKind && kind !== 'none' ? ['Calls fail until a credential of the new kind is stored.'] : []),
    ...witnessConsequences(memberOf(memberOf(config, 'witness'), 'enabled') === true, next),
    ...(gone.length > 0
      ? [`Calls of ${gone.map((tool) => `${name}.${tool}`).join(', ')} are denied from then on.`]
      : []),
  ];
};
