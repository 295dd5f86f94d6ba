import { Injectable } from '@nestjs/common';
import { Clock, type Timestamp, timestampOf } from '#libs/domain/kernel';
import { type LivingOrganization, PasskeyRows } from '#libs/domain/people';

/** A passkey whose sign counter fell, which a copy would do. */
export interface CopiedPasskey {
  readonly passkey: string;
  readonly user: string;
  readonly fellAt: Timestamp;
}

/** Whoever has not looked for so long has decided to leave it. */
const PRESSING_MS = 7 * 24 * 60 * 60_000;

/** Passkeys that somebody may have a copy of. One that was removed needs nobody. */
@Injectable()
export class CopiedPasskeys {
  constructor(
    private readonly rows: PasskeyRows,
    private readonly clock: Clock,
  ) {}

  /** Those that fell last on top. */
  async of({ org, passkeys }: LivingOrganization): Promise<readonly CopiedPasskey[]> {
    if (passkeys.size === 0) return [];
    const fallen = await this.rows.fallen(org, this.clock.nowMs() - PRESSING_MS);
    return fallen.flatMap(({ credential, counterFellAtMs }) => {
      const known = passkeys.get(credential);
      if (known === undefined || counterFellAtMs === null) return [];
      return [{ passkey: known.passkey, user: known.user, fellAt: timestampOf(counterFellAtMs) }];
    });
  }
}
