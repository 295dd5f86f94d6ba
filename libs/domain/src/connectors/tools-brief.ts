import type { ConnectorEvent } from './connector.events.js';
import {
  afterAccepted,
  afterRecorded,
  type DiscoveredStatus,
  type DiscoveredTool,
  type DiscoveredTools,
  discoveredStatusOf,
} from './discovered-tools.js';

/** A live connector, as far as public events speak of its tools. */
export interface ToolsBrief {
  /** Null where its server has listed none yet, and for types whose config names the tools. */
  readonly tools: DiscoveredTools | null;
}

/** @param before null where no such connector lives; the same of what is returned */
export const toolsBriefAfter = (before: ToolsBrief | null, event: ConnectorEvent): ToolsBrief | null => {
  switch (event.type) {
    case 'ConnectorCreated':
      return { tools: null };
    case 'ConnectorDeleted':
      return null;
    case 'ConnectorToolsRecorded':
      return before && { tools: afterRecorded(before.tools ?? undefined, event.data, event.data.at) };
    case 'ConnectorToolsAccepted':
      return before?.tools ? { tools: afterAccepted(before.tools, event.data, event.data.at) } : before;
    case 'ConnectorUpdated':
    case 'ConnectorDisabled':
    case 'ConnectorCredentialsUpdated':
    case 'ConnectorCredentialsRemoved':
      return before;
  }
};

export type ChangedTool = { readonly name: string; readonly status: DiscoveredStatus };

/** Tools of which another definition was observed or accepted, with what each is now. */
export const changedTools = (before: DiscoveredTools, after: DiscoveredTools): readonly ChangedTool[] => {
  const known = new Map(before.tools.map((tool) => [tool.name, tool]));
  const changed = after.tools.flatMap((tool) => {
    const isSame = isAsBefore(tool, known.get(tool.name));
    known.delete(tool.name);
    return isSame ? [] : [{ name: tool.name, status: discoveredStatusOf(tool) }];
  });
  // Of a tool that nobody ever accepted nothing is left where its server does not list it any more.
  const forgotten = [...known.keys()].map((name) => ({ name, status: 'gone' as const }));
  return [...changed, ...forgotten];
};

const isAsBefore = ({ observed, accepted }: DiscoveredTool, before: DiscoveredTool | undefined): boolean =>
  before !== undefined && before.observed === observed && before.accepted === accepted;
