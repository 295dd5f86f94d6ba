import type { Digest, JsonObject } from '#libs/crypto';
import { type DiscoveredTool, discoveredStatusOf } from '#libs/domain/connectors';
import { hiddenPlaceIn } from '#libs/domain/gate';

/**
 * A tool as its server describes it, beside what was accepted.
 * @param bodies the definitions that are stored, by digest
 */
export const connectorToolView = (tool: DiscoveredTool, bodies: ReadonlyMap<Digest, string>): JsonObject => {
  const { name, observed, accepted, changedAt } = tool;
  const definition = definitionOf(observed, bodies);
  return {
    object: 'connector_tool',
    name,
    status: discoveredStatusOf(tool),
    definition_digest: observed,
    accepted_digest: accepted,
    definition,
    accepted_definition: definitionOf(accepted, bodies),
    invisible_characters: definition === null ? null : hiddenPlaceIn(definition, 'definition'),
    changed_at: changedAt,
  };
};

/** Null where there is none, and where it was lost: asking the server again brings it back. */
const definitionOf = (digest: Digest | null, bodies: ReadonlyMap<Digest, string>): JsonObject | null => {
  const body = digest === null ? undefined : bodies.get(digest);
  return body === undefined ? null : (JSON.parse(body) as JsonObject);
};
