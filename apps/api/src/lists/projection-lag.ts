import type { FastifyReply } from 'fastify';

/** Events that a list does not tell yet; absent from a list that is current (docs/api-conventions.md). */
const PROJECTION_LAG_HEADER = 'Service-Projection-Lag';

/** Whoever reads a list that is behind is told so: it answers what it has (docs/api-conventions.md, Lists). */
export const tellLag = (reply: FastifyReply, { lagEvents }: { readonly lagEvents: number }): void => {
  if (lagEvents > 0) void reply.header(PROJECTION_LAG_HEADER, String(lagEvents));
};
