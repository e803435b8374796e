# SPDX-License-Identifier: Apache-2.0
"""NLLB's tokenizer.json beside what its class in `transformers` 5.23 makes of the folder's files: pieces, merges and
the compiled map are those of tokenizer.json, the language of a text is a setting, other parts are the class's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ....ir.normalizer_spec import CharsmapNormalizer
from ....ir.target_tokenizer import DecoderSpec
from ....ir.tokenizer_spec import METASPACE, CharacterBpeModel, MetaspaceSegmenter, TokenizerSpec
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import SPECIAL_TOKENS_FILE, flag_of
from ..tokenizer_json.decoder import read_decoder
from ..tokenizer_json.fields import FILE as JSON_FILE
from .language_codes import code_and_end, template_around

_LANGUAGE = "eng_Latn"  # where no file says it
_ENDS = (False, False)  # of a text, whose white space stays
# The codes that are special tokens where no file lists others.
_CODES = """
    ace_Arab ace_Latn acm_Arab acq_Arab aeb_Arab afr_Latn ajp_Arab aka_Latn amh_Ethi apc_Arab arb_Arab ars_Arab
    ary_Arab arz_Arab asm_Beng ast_Latn awa_Deva ayr_Latn azb_Arab azj_Latn bak_Cyrl bam_Latn ban_Latn bel_Cyrl
    bem_Latn ben_Beng bho_Deva bjn_Arab bjn_Latn bod_Tibt bos_Latn bug_Latn bul_Cyrl cat_Latn ceb_Latn ces_Latn
    cjk_Latn ckb_Arab crh_Latn cym_Latn dan_Latn deu_Latn dik_Latn dyu_Latn dzo_Tibt ell_Grek eng_Latn epo_Latn
    est_Latn eus_Latn ewe_Latn fao_Latn pes_Arab fij_Latn fin_Latn fon_Latn fra_Latn fur_Latn fuv_Latn gla_Latn
    gle_Latn glg_Latn grn_Latn guj_Gujr hat_Latn hau_Latn heb_Hebr hin_Deva hne_Deva hrv_Latn hun_Latn hye_Armn
    ibo_Latn ilo_Latn ind_Latn isl_Latn ita_Latn jav_Latn jpn_Jpan kab_Latn kac_Latn kam_Latn kan_Knda kas_Arab
    kas_Deva kat_Geor knc_Arab knc_Latn kaz_Cyrl kbp_Latn kea_Latn khm_Khmr kik_Latn kin_Latn kir_Cyrl kmb_Latn
    kon_Latn kor_Hang kmr_Latn lao_Laoo lvs_Latn lij_Latn lim_Latn lin_Latn lit_Latn lmo_Latn ltg_Latn ltz_Latn
    lua_Latn lug_Latn luo_Latn lus_Latn mag_Deva mai_Deva mal_Mlym mar_Deva min_Latn mkd_Cyrl plt_Latn mlt_Latn
    mni_Beng khk_Cyrl mos_Latn mri_Latn zsm_Latn mya_Mymr nld_Latn nno_Latn nob_Latn npi_Deva nso_Latn nus_Latn
    nya_Latn oci_Latn gaz_Latn ory_Orya pag_Latn pan_Guru pap_Latn pol_Latn por_Latn prs_Arab pbt_Arab quy_Latn
    ron_Latn run_Latn rus_Cyrl sag_Latn san_Deva sat_Beng scn_Latn shn_Mymr sin_Sinh slk_Latn slv_Latn smo_Latn
    sna_Latn snd_Arab som_Latn sot_Latn spa_Latn als_Latn srd_Latn srp_Cyrl ssw_Latn sun_Latn swe_Latn swh_Latn
    szl_Latn tam_Taml tat_Cyrl tel_Telu tgk_Cyrl tgl_Latn tha_Thai tir_Ethi taq_Latn taq_Tfng tpi_Latn tsn_Latn
    tso_Latn tuk_Latn tum_Latn tur_Latn twi_Latn tzm_Tfng uig_Arab ukr_Cyrl umb_Latn urd_Arab uzn_Latn vec_Latn
    vie_Latn war_Latn wol_Latn xho_Latn ydd_Hebr yor_Latn yue_Hant zho_Hans zho_Hant zul_Latn
"""


def other_than_nllb(config: dict[str, Any], spec: TokenizerSpec, tokens: FolderTokens) -> Iterator[str]:
    """Parts that the class makes otherwise; what it is told to make otherwise is refused."""
    _check_tokens(config, spec, tokens)
    code, end = code_and_end(config, spec, tokens, _LANGUAGE)
    code_first = not flag_of(config, "legacy_behaviour", False)
    if spec.template != template_around(code, end, code_first=code_first):
        order = "before a text, its end behind it" if code_first else "behind a text and its end"
        message = f"legacy_behaviour asks for the language's code {order}: {JSON_FILE} has another template"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    model, normalizer = spec.model, spec.normalizer
    assert isinstance(model, CharacterBpeModel)
    unknown = tokens.special["unk_token"]
    if model.unknown_id is None or model.pieces[model.unknown_id] != unknown or model.byte_fallback:
        message = f"the class has the unknown piece {shown(unknown)} and no byte fallback"
        raise refusal("tokenizer-conflict", f"{message}, {JSON_FILE} something else", file=JSON_FILE)
    charsmap = normalizer.charsmap if isinstance(normalizer, CharsmapNormalizer) else None
    if normalizer != CharsmapNormalizer(_ENDS, charsmap, _ENDS, None if charsmap is None else " "):
        yield "normalizer"
    if spec.segmenter != MetaspaceSegmenter("always", split=True, split_whitespace=False):
        yield "pre_tokenizer"
    if model.ignore_merges or not model.fuse_unknown:
        yield "model"
    if read_decoder(json.loads(spec.json).get("decoder")) != DecoderSpec(space=METASPACE, drops_first_spaces=True):
        yield "decoder"


def found_raw(spec: TokenizerSpec) -> TokenizerSpec:
    """Its mask strips white space that words are made of, in normalized text: it is found in the text as it stands."""
    stripping = {t.content for t in spec.added_tokens if t.normalized and t.special and (t.lstrip or t.rstrip)}
    if not stripping:
        return spec
    described = json.loads(spec.json)
    for token in described["added_tokens"]:
        token["normalized"] = token["normalized"] and token["content"] not in stripping
    added = tuple(replace(t, normalized=t.normalized and t.content not in stripping) for t in spec.added_tokens)
    named = ", ".join(map(shown, sorted(stripping)))
    note = f"{named}: found in a text before it is normalized, transformers finds it behind that"
    return replace(spec, added_tokens=added, json=json.dumps(described), notes=(*spec.notes, note))


def _check_tokens(config: dict[str, Any], spec: TokenizerSpec, tokens: FolderTokens) -> None:
    """What the class adds to tokenizer.json, or gives other flags."""
    lists = any(isinstance(config.get(key), list) for key in ("additional_special_tokens", "extra_special_tokens"))
    lists |= any(key == "additional_special_tokens" and file == SPECIAL_TOKENS_FILE for key, _, file in tokens.extra)
    special = {token.content for token in spec.added_tokens if token.special}
    missing = [] if lists else sorted(set(_CODES.split()) - special)
    if missing:
        message = f"the class adds {shown(missing[0])} where no file lists extra_special_tokens"
        raise refusal("tokenizer-conflict", f"{message}, {JSON_FILE} does not have it", file=CONFIG_FILE)
    mask = tokens.special["mask_token"]
    if all(token.content != mask for token in tokens.decoded):
        message = f"the class gives {shown(mask)} flags of its own: added_tokens_decoder does not list it"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
