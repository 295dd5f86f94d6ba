const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * Functions of PostgreSQL that compute from their arguments and nothing else, and those of time and chance that are harmless.
 * None reads a catalog, a setting, a file, a sequence or another query; none writes, waits or sends. `ts_stat` and the
 * `ts_rewrite` that run a query are missing for that, `setseed` for what it leaves behind.
 */
const NAMES = [
  // Aggregates and windows.
  `count sum avg min max bool_and bool_or every any_value array_agg string_agg json_agg jsonb_agg json_object_agg
   jsonb_object_agg json_agg_strict jsonb_agg_strict json_object_agg_strict jsonb_object_agg_strict json_object_agg_unique
   jsonb_object_agg_unique bit_and bit_or bit_xor range_agg range_intersect_agg mode percentile_cont percentile_disc corr
   covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev
   stddev_pop stddev_samp variance var_pop var_samp row_number rank dense_rank percent_rank cume_dist ntile lag lead
   first_value last_value nth_value`,
  // Texts and bytes.
  `ascii bit_length btrim casefold char_length character_length chr concat concat_ws convert_from convert_to decode encode
   format get_bit get_byte set_bit set_byte bit_count initcap is_normalized left length like_escape lower lpad ltrim md5
   normalize octet_length overlay position quote_ident quote_literal quote_nullable regexp_count regexp_instr regexp_like
   regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr repeat replace reverse
   right rpad rtrim sha224 sha256 sha384 sha512 similar_to_escape split_part starts_with string_to_array string_to_table
   strpos substr substring to_ascii to_bin to_hex to_oct translate unicode_assigned unistr upper crc32 crc32c`,
  // Numbers.
  `abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos cosd cosh cot cotd degrees div
   erf erfc exp factorial floor gamma gcd lcm lgamma ln log log10 min_scale mod pi power pow radians random random_normal round
   scale sign sin sind sinh sqrt tan tand tanh to_number trim_scale trunc width_bucket`,
  // Dates and times.
  `age clock_timestamp date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days justify_hours
   justify_interval localtimestamp make_date make_interval make_time make_timestamp make_timestamptz now overlaps
   statement_timestamp timeofday timezone to_char to_date to_timestamp transaction_timestamp`,
  // JSON.
  `array_to_json json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each
   json_each_text json_extract_path json_extract_path_text json_object json_object_keys json_populate_record
   json_populate_recordset json_strip_nulls json_to_record json_to_recordset json_typeof jsonb_array_elements
   jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_concat jsonb_contained
   jsonb_contains jsonb_delete jsonb_delete_path jsonb_each jsonb_each_text jsonb_exists jsonb_exists_all jsonb_exists_any
   jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys jsonb_path_exists
   jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array
   jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record
   jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset
   jsonb_typeof row_to_json to_json to_jsonb`,
  // Arrays, ranges, sets and enums.
  `array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position array_positions
   array_prepend array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_string array_upper
   cardinality trim_array unnest generate_series generate_subscripts datemultirange daterange enum_first enum_last enum_range
   int4multirange int4range int8multirange int8range isempty lower_inc lower_inf multirange nummultirange numrange range_merge
   tsmultirange tsrange tstzmultirange tstzrange upper_inc upper_inf num_nonnulls num_nulls`,
  // Search, networks, shapes, identities.
  `array_to_tsvector numnode phraseto_tsquery plainto_tsquery querytree setweight strip to_tsquery to_tsvector ts_delete
   ts_filter ts_headline ts_rank ts_rank_cd tsquery_phrase tsvector_to_array websearch_to_tsquery abbrev broadcast family host
   hostmask inet_merge inet_same_family macaddr8_set7bit masklen netmask network set_masklen area bound_box box center circle
   diagonal diameter height isclosed isopen line lseg npoints path pclose point polygon popen radius slope width
   gen_random_uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7`,
];

const PLAIN: ReadonlySet<string> = new Set(NAMES.flatMap(words));

export const isPlainFunction = (name: string): boolean => PLAIN.has(name);

/** Those of the plain ones whose one column has a name that no alias takes away. */
const OWN_COLUMN = /^jsonb?_array_elements(_text)?$/;

/** Whether `FROM f(…) AS t` gives the column t, where f gives single values. Of others than the plain ones nobody knows. */
export const namesColumnByAlias = (name: string): boolean => isPlainFunction(name) && !OWN_COLUMN.test(name);
