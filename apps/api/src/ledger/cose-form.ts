import { Injectable } from '@nestjs/common';
import { encodeDeedCose, isDeedCoseSignedInPool, parsePublicKeyText, type VerifiedPublicKey } from '#libs/crypto';
import { StoreUnavailable } from '#libs/domain/kernel';
import { SealKeyAdministration, type StoredDeed } from '#libs/domain/ledger';

/**
 * The COSE form of stored deeds. Its signature is made when the deed is sealed, and verified here each time before the
 * form is handed out. So a form that is handed out always verifies, even if the stored text was damaged.
 */
@Injectable()
export class CoseForm {
  constructor(private readonly keys: SealKeyAdministration) {}

  /** @throws {StoreUnavailable} when the stored signature does not verify over the stored bytes */
  async of({ deed, body, kid, cose_signature: coseSignature }: StoredDeed): Promise<Buffer> {
    const cose = { kid, body: Buffer.from(body), coseSignature };
    const publicKey = await this.publicKeyOf(kid);
    if (publicKey === null || !(await isDeedCoseSignedInPool(cose, publicKey))) {
      throw new StoreUnavailable(`the COSE signature that is stored with ${deed} does not verify`);
    }
    return Buffer.from(encodeDeedCose(cose));
  }

  private async publicKeyOf(kid: string): Promise<VerifiedPublicKey | null> {
    const listed = (await this.keys.list()).find((key) => key.kid === kid);
    return listed === undefined ? null : parsePublicKeyText(listed.publicKey);
  }
}
