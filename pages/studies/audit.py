"""The leakage audit of a study: what its texts give away about their sources."""

import pandas as pd
import streamlit as st

from core.schema.study import Study
from core.store import Store
from core.study.audit import LeakageAudit, audit_study, reading_sentences
from pages.widgets.messages import plain
from pages.widgets.parts import HELP, number, table

_ANCHOR = "leakage-audit"
_SHOWN = {"warning": st.warning, "hint": st.warning, "none": st.info, "unknown": st.info}


def render_audit(store: Store, study: Study) -> None:
    """Reading, table and linkage; a warning, never a block. Reads no votes."""
    design = study.design
    audit = _audited(
        store,
        study,
        (study.study_id, study.dataset_sha256, design.candidate, design.comparator, design.level_order),
    )
    st.markdown(
        "Hidden names are not enough: can somebody who looks only at length, changes, punctuation, formatting and repeated "
        f"wording tell which source wrote an answer? :small[[How it is computed]({HELP}#{_ANCHOR})]"
    )
    _SHOWN[audit.severity](plain(" ".join(reading_sentences(audit))))
    rows = [
        (
            part.level or "all levels",
            str(part.all_features.n_pairs),
            number(part.all_features.auc, 2),
            number(part.all_features.p, 4),
            part.rule_text or "none",
            number(part.rule.p, 4),
            part.all_features.reason or "",
        )
        for part in (*audit.levels, audit.overall)
    ]
    columns = ["Level", "Pairs", "AUC", "p", "Strongest rule", "p of the rule", "Note"]
    table(pd.DataFrame(rows, columns=columns))
    st.markdown(
        "- **AUC** is the chance that a pair shown the right way round scores higher than a pair shown the wrong way "
        "round, learned from other questions: 0.5 is guessing, 1 names every source.\n"
        "- **p** is how often as much is found after the two sources of each question were swapped at random.\n"
        f"- **Strongest rule** is said of the answer of {plain(audit.candidate)}; its p pays for having chosen "
        "the best of all rules."
    )
    st.markdown(plain(audit.linkage.sentence()))


@st.cache_data(show_spinner=False, max_entries=64)
def _audited(_store: Store, _study: Study, key: tuple[object, ...]) -> LeakageAudit:
    """The audit, once for the same texts and roles, which `key` stands for."""
    return audit_study(_store, _study)
