import { Readable } from 'node:stream';
import { Controller, Get, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsIn, IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { BUNDLE_MEDIA_TYPE, BUNDLE_VERSION, type BundleVersion, FIRST_BUNDLE_VERSION, writeBundle } from '#libs/crypto';
import { Logger } from '#libs/domain/kernel';
import { type BundleSigning, ExportEvidence, StartExport } from '#libs/domain/ledger';
import { isAtLeast } from '#libs/domain/people';
import type { Principal } from '../http/authenticator.port.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { agentsHaveNoScope, insufficientRole } from '../http/scope-refusal.js';
import { IfPresent } from '../http/shape.js';
import { DeedExport, type PreparedExport } from './deed-export.js';

const FORMATS: readonly BundleVersion[] = [FIRST_BUNDLE_VERSION, BUNDLE_VERSION];

class ExportDeedsQuery {
  /** Inclusive, over `issued_at`. */
  @IfPresent()
  @IsString()
  from?: string;

  /** Exclusive, over `issued_at`. */
  @IfPresent()
  @IsString()
  to?: string;

  @IfPresent()
  @IsIn(FORMATS, { message: `must be ${FORMATS.join(' or ')}` })
  format?: BundleVersion;

  /** Admins and owners: what the deeds stand for, too. */
  @IfPresent()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  evidence?: 'true' | 'false';
}

@Controller()
export class ExportDeedsController {
  constructor(
    private readonly exports: DeedExport,
    private readonly commands: CommandBus,
    private readonly logger: Logger,
  ) {}

  /**
   * The export bundle of a time range, written while it is read: no faster than its reader, never held in memory as a
   * whole, and cut if reading fails. The form of a bundle shows whether it was cut (docs/deed-format.md). The export is
   * recorded before its first byte goes out, and one with evidence is sealed, because it holds what retention will remove.
   */
  @Get('/v1/deeds/export')
  @Route({
    auth: 'session_or_key',
    role: 'viewer',
    scopes: ['deeds:read'],
    since: '2026-10-01',
    unknownQuery: 'refused',
  })
  async export(
    @Query() query: ExportDeedsQuery,
    @RequestContext() exchange: Exchange,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (query.evidence === 'true') requireAdmin(exchange.caller);
    const isAsked = exchange.request.method !== 'HEAD';
    const signing = isAsked ? signingFor(exchange.caller) : 'never';
    const prepared = await this.exports.prepare(exchange.caller.org, query, signing);
    const { content, fileName } = prepared;
    if (isAsked) await this.record(prepared, exchange);
    void reply
      .header('Content-Type', BUNDLE_MEDIA_TYPE)
      .header('Content-Disposition', `attachment; filename="${fileName}"`);
    // HEAD gets the headers of a GET without its body, so no deed is read for it.
    if (!isAsked) return void reply.send(Readable.from([]));
    const bundle = Readable.from(writeBundle(content), { objectMode: false });
    bundle.once('error', (error) => {
      if (exchange.clientGone.aborted) return;
      this.logger.error('export ended early', { request_id: exchange.requestId, error });
    });
    void reply.send(bundle);
  }

  private async record({ content, format, hasEvidence }: PreparedExport, exchange: Exchange): Promise<void> {
    const { org } = exchange.caller;
    const { from, to, first_seq, last_seq } = content.range;
    const range = { org, from, to, first_seq, last_seq };
    const metadata = exchange.commandMetadata();
    await this.commands.execute(new StartExport({ ...range, kind: 'deeds' }, metadata));
    // Of no deed nothing leaves, and who exports again and again would seal again and again that nothing left.
    if (hasEvidence && first_seq !== null)
      await this.commands.execute(new ExportEvidence({ ...range, format }, metadata));
  }
}

/** Who only reads makes nothing that the worker would not have made by then; who may make a checkpoint has it at once. */
const signingFor = (caller: Principal): BundleSigning => {
  if (caller.kind === 'agent') return 'when_late';
  return caller.kind === 'person' && !isAtLeast(caller.role, 'admin') ? 'when_late' : 'at_once';
};

/** As the evidence of one deed, it holds what approvers were shown and said; and all of it at once is for admins. */
const requireAdmin = (caller: Principal): void => {
  if (caller.kind === 'agent') throw agentsHaveNoScope(AGENTS_INSTEAD);
  if (caller.kind === 'person' && !isAtLeast(caller.role, 'admin')) throw insufficientRole(caller.role, 'admin');
};

const AGENTS_INSTEAD = 'Leave out evidence: an agent’s key exports the deeds alone.';
