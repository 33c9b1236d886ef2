"""Makes tiny models for the metrics that run one: `python tests/helpers/models/tiny_metric_models.py FOLDER`, with .venv-neural's Python.

Two layers of random weights each, tokenizers trained here on the demo's texts. Their scores mean nothing, but depend
on every word; the files, and whatever loads and runs them, are the real thing.
"""

import csv
import shutil
import sys
import unittest.mock
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import comet.models
import pytorch_lightning
import sentencepiece
import torch
import yaml
from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification
from tokenizers import BertWordPieceTokenizer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    BertTokenizer,
    XLMRobertaConfig,
    XLMRobertaModel,
    XLMRobertaTokenizer,
    XLMRobertaTokenizerFast,
)

ROOT = Path(__file__).resolve().parents[3]
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 130,
    "initializer_range": 0.3,  # with the usual 0.02 all texts look alike
}
LABELS = ("contradiction", "entailment", "neutral")


def texts() -> Iterator[str]:
    """What the tokenizers learn from."""
    for path in [ROOT / "data" / "demo" / "answers.csv"]:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                yield from row


def word_pieces(folder: Path) -> BertTokenizer:
    """The texts' characters and most frequent words; tokenizers' own training breaks ties anew every time."""
    split = BertWordPieceTokenizer(lowercase=False).pre_tokenizer.pre_tokenize_str
    words = Counter(word for text in texts() for word, _ in split(text))
    characters = sorted(set("".join(words)))
    frequent = sorted(words, key=lambda word: (-words[word], word))
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *(f"##{one}" for one in characters)]
    known += [word for word in frequent if word not in characters][: 1500 - len(known)]
    (folder / "vocab.txt").write_text("\n".join(known) + "\n", encoding="utf-8")
    return BertTokenizer(folder / "vocab.txt", do_lower_case=False, model_max_length=128)


def sentence_pieces(folder: Path, name: str, **special: Any) -> Path:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(list(texts())),
        model_prefix=str(folder / name),
        vocab_size=700,
        character_coverage=0.98,
        minloglevel=2,
        num_threads=1,
        **special,
    )
    return folder / f"{name}.model"


def make_bert(folder: Path, words: BertTokenizer, layers: int) -> None:
    torch.manual_seed(1)
    BertModel(BertConfig(vocab_size=len(words), **{**SIZES, "num_hidden_layers": layers})).save_pretrained(
        folder
    )
    words.save_pretrained(folder)


def make_nli(folder: Path, words: BertTokenizer, labels: tuple[str, ...], named: tuple[str, ...]) -> None:
    """The same model whatever the order of its labels; `named` is what its configuration calls them."""
    torch.manual_seed(2)
    config = BertConfig(vocab_size=len(words), **SIZES, num_labels=len(labels))
    model = BertForSequenceClassification(config)
    order = [LABELS.index(label) for label in labels]
    with torch.no_grad():
        model.classifier.weight.copy_(model.classifier.weight[order].clone())
        model.classifier.bias.copy_(torch.tensor([-0.5, 0.2, 0.1])[order])
    model.config.id2label = dict(enumerate(named))
    model.config.label2id = {label: number for number, label in enumerate(named)}
    model.save_pretrained(folder)
    words.save_pretrained(folder)


def make_bleurt(folder: Path, size: int, spoilt: bool = False) -> None:
    torch.manual_seed(3)
    model = BleurtForSequenceClassification(BleurtConfig(vocab_size=size, **SIZES))
    if spoilt:
        model.classifier.weight.data.fill_(float("nan"))
    model.save_pretrained(folder)


def make_xlmr(folder: Path) -> None:
    """An encoder for COMET."""
    folder.mkdir()
    torch.manual_seed(4)
    words = XLMRobertaTokenizer(sentence_pieces(folder, "sentencepiece.bpe"), model_max_length=128)
    config = XLMRobertaConfig(vocab_size=len(words), **SIZES, pad_token_id=1, bos_token_id=0, eos_token_id=2)
    XLMRobertaModel(config).save_pretrained(folder)
    words.save_pretrained(folder)


def make_comet(folder: Path, encoder: str, kind: str, **more: Any) -> None:
    """A checkpoint as training leaves it: Lightning's file, and COMET's settings beside it."""
    torch.manual_seed(5)
    settings = {
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": encoder,
        "hidden_sizes": [48, 24],
        "layer_transformation": "sparsemax",
        "layer_norm": False,
        "train_data": ["none"],
        "validation_data": ["none"],
        "local_files_only": True,
        **more,
    }
    model = comet.models.str2model[kind](**settings)
    trainer = pytorch_lightning.Trainer(
        accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.strategy.connect(model)
    trainer.save_checkpoint(folder / "checkpoints" / "model.ckpt")
    (folder / "hparams.yaml").write_text(yaml.safe_dump({**settings, "class_identifier": kind}))


def make_comet_of_minilm(folder: Path) -> None:
    """A COMET on a MiniLM, for which the library itself names the tokenizer's model: here it gets the one made above."""
    words = XLMRobertaTokenizerFast.from_pretrained(folder / "xlmr")
    BertModel(BertConfig(vocab_size=len(words), **SIZES)).save_pretrained(folder / "minilm")
    with unittest.mock.patch.object(XLMRobertaTokenizerFast, "from_pretrained", return_value=words):
        encoder = str(folder / "minilm")
        make_comet(folder / "comet-minilm-of-path", encoder, "regression_metric", encoder_model="MiniLM")
    rename_encoder(folder / "comet-minilm-of-path", folder / "comet-minilm", "tiny/minilm")


def rename_encoder(folder: Path, copy: Path, name: str) -> None:
    """The same COMET model, whose encoder has a name of the model hub, as those of the hub have."""
    shutil.copytree(folder, copy)
    checkpoint, settings = copy / "checkpoints" / "model.ckpt", copy / "hparams.yaml"
    saved = torch.load(checkpoint, weights_only=False)
    saved["hyper_parameters"]["pretrained_model"] = name
    torch.save(saved, checkpoint)
    settings.write_text(yaml.safe_dump({**yaml.safe_load(settings.read_text()), "pretrained_model": name}))


def make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    words = word_pieces(folder)
    make_bert(folder / "bert", words, layers=6)
    make_bert(folder / "bert-shallow", words, layers=3)
    make_nli(folder / "nli", words, LABELS, LABELS)
    swapped = ("neutral", "contradiction", "entailment")
    make_nli(folder / "nli-swapped", words, swapped, tuple(label.upper() for label in swapped))
    make_nli(folder / "nli-unnamed", words, LABELS, ("LABEL_0", "LABEL_1", "LABEL_2"))
    make_bleurt(folder / "bleurt", len(words))
    make_bleurt(folder / "bleurt-spoilt", len(words), spoilt=True)
    for name in ("bleurt", "bleurt-spoilt"):
        shutil.copy(folder / "vocab.txt", folder / name)
    special = {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3, "pad_piece": "[PAD]", "unk_piece": "[UNK]"}
    pieces = {"bos_piece": "[CLS]", "eos_piece": "[SEP]", "user_defined_symbols": "[MASK]"}
    make_bleurt(folder / "bleurt-sp", 800)
    sentence_pieces(folder / "bleurt-sp", "spm", **special, **pieces)
    make_xlmr(folder / "xlmr")
    encoder = str(folder / "xlmr")
    make_comet(folder / "comet-da", encoder, "regression_metric")
    make_comet(folder / "comet-qe", encoder, "referenceless_regression_metric")
    rename_encoder(folder / "comet-da", folder / "comet-of-hub", "tiny/xlmr")
    make_comet_of_minilm(folder)
    segments = {"input_segments": ["mt", "src", "ref"], "word_level_training": False, "sent_layer": "mix"}
    make_comet(folder / "comet-unified", encoder, "unified_metric", **segments)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
