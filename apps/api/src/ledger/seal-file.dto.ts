import { type Digest, DIGEST_PATTERN } from '#libs/crypto';
import { FILE_MEDIA_TYPES, type FileMediaType } from '#libs/domain/ledger';
import { IsIn, IsInt, IsString, Matches, Max, Min } from 'class-validator';

const BYTES = { message: `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}` };

/** POST /v1/deeds/files. */
export class SealFileBody {
  @Matches(DIGEST_PATTERN, { message: 'must be sha256: and 64 lower-case hexadecimal digits' })
  sha256!: Digest;

  @IsInt(BYTES)
  @Min(0, BYTES)
  @Max(Number.MAX_SAFE_INTEGER, BYTES)
  bytes!: number;

  @IsIn(FILE_MEDIA_TYPES, { message: `must be one of ${FILE_MEDIA_TYPES.join(', ')}` })
  media_type!: FileMediaType;

  @IsString({ message: 'must be a string' })
  label!: string;
}
