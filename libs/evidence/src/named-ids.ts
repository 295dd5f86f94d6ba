import type { DeedBody } from '#libs/crypto';

/** Every id in a deed whose name, or whose text, a line behind the deeds may tell. */
export const idsNamedBy = ({ org, who, action, policy, approval, admin }: DeedBody): readonly string[] =>
  [
    org,
    ...[who.actor.id, who.agent, who.key, who.on_behalf_of],
    action?.connector ?? null,
    ...[policy?.policy ?? null, policy?.policy_version ?? null],
    ...(approval?.countersigned ?? []).map(({ by }) => by),
    approval?.decided_by?.id ?? null,
    admin?.target.id ?? null,
  ].filter((id) => id !== null);
